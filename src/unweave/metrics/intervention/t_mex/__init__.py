"""T-MEX: conditional independence tests of codes and factors, compared with a hypothesis."""

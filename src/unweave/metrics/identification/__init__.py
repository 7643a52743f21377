"""The metric `identification`, one file a step: columns, responses, recovery, free factors, chance."""

"""Studies that use the library as any user does; they are not part of the package."""

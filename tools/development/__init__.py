"""The parts of `dev.py`: steps that are run and timed, the toolchain and .venv, the fuzz targets."""

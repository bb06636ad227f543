"""Random lives of indexes through every entry point of the Python package, with trouble on the way.

| module | what it has |
| --- | --- |
| `drawing` | random rules and events |
| `reference` | what an index should hold and answer |
| `life` | a random history of one index through every entry point |
| `trouble` | kills, forks, full disks, damaged files |
| `worker` | one life after another in a process of its own |
| `schedule` | workers side by side, their totals and their findings |
"""

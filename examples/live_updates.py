"""Change the rules while other threads match: every match sees a whole state, never half a change."""

import threading

import tamis

index = tamis.Index()
index.add_many((f"rule-{n}", f"value >= {n}") for n in range(100))

# Whatever limit is in force, 50 is above it.
index.add("limit", "value > 10")
stop = threading.Event()
seen: set[bool] = set()


def read() -> None:
    """Match until told to stop."""
    while True:
        seen.add("limit" in index.match({"value": 50}))
        if stop.is_set():
            break


readers = [threading.Thread(target=read) for _ in range(2)]
for reader in readers:
    reader.start()
for n in range(500):
    index.replace("limit", f"value > {20 + n % 2}")
    index.add(f"guest-{n}", "value = 50")
    index.remove(f"guest-{n}")
stop.set()
for reader in readers:
    reader.join()

# The limit was replaced 500 times, yet no reader ever missed it.
print("seen:", seen)
print("rules:", len(index))

try:
    index.add("limit", "value > 1")
except tamis.DuplicateId as error:
    print("refused:", error)

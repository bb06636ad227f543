"""Write expressions in Python instead of text: the two are the same thing."""

import tamis
from tamis import attr

adult = attr("user.age") >= 18
european = attr("country").is_in(["DE", "FR", "NL"])
tester = attr("email").endswith("@example.com") | attr("flags").any().like("test-%")

rule = adult & european & ~tester
print(rule)

# Text and builder give equal expressions.
assert tamis.parse(str(rule)) == rule

# Expressions can be evaluated on their own; None means UNKNOWN.
event = {"user": {"age": 41}, "country": "NL", "email": "kim@mail.example", "flags": []}
print(rule.evaluate(event))
print(rule.evaluate({"country": "NL"}))
print(sorted(rule.attributes()))

# They combine, carry weights, and go into an index like text does.
index = tamis.Index()
index.add("plain", rule)
index.add("weighted", adult.weight(0.5) & european.weight(2.0))
index.add("either", tamis.any_of(adult, european, attr("vip")))
print(index.match(event))
print(index.top_k(event, k=1))

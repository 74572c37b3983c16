// A process with this in it has its settings in a directory of its own, which goes with it: not in that of whoever runs the tests.
#pragma once

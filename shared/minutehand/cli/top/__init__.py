"""The live view of `minutehand top`: keys, what they do, and the lines of the screen."""

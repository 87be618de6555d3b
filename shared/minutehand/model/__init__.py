"""Values that flow through the queue; they import nothing above them."""

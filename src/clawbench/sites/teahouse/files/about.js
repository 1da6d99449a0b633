// nothing to do here

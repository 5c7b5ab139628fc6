"""Does a packet point at the right files and lines? Measured on real trees, beside other locators."""

"""What people use: report, command line, explorer, the paper made again; Python users can have all that it shows."""

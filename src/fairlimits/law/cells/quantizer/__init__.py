"""The codebook of cells: centroids that stand for rows, found exactly whatever the number of cores."""

"""From data to the joint law of features, group and label: outcome estimates, cells and generators."""

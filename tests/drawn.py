"""What an axes shows, by its labels."""


def labelled(ax, label):
    """The one line of that label."""
    (actual,) = [line for line in ax.get_lines() if line.get_label() == label]
    return actual


def legend(ax):
    """The texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]

"""The page to play with: its document of data, and the HTML file that holds it."""

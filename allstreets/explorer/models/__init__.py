"""The messages between server and page; the OpenAPI document and the page's types follow them."""

"""How strong the tests are: every small change of the source that no test notices."""

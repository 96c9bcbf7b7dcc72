"""Packetdrill's scripts played to `tcp::Endpoint`: `python -m validation.packetdrill FOLDER`."""

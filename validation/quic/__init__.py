"""quinn-proto beside aqmlab's QUIC."""

"""What runs inside the guest kernel."""

module rpm_server

go 1.21

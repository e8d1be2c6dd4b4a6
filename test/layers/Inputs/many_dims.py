for number in range(1001):
    print(f"dim d{number}")

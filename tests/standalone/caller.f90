! Calls the functions from Fortran, whose matrices lie column by column: the transposed ones are what C sees.
program caller
  use iso_c_binding
  implicit none
  interface
    subroutine layer(w, x, b, y) bind(c)
      import c_float
      real(c_float), intent(in) :: w(4, 3), x(4), b(3)
      real(c_float), intent(out) :: y(3)
    end subroutine
  end interface
  real(c_float) :: w(4, 3), x(4), b(3), y(3), expected(3)
  integer :: i, k
  do i = 1, 3
    do k = 1, 4
      w(k, i) = real(mod(((i - 1) * 4 + k - 1) * 5, 7) - 3) / 8
    end do
  end do
  x = [0.5, -1.0, 2.0, 0.25]
  b = [0.1, 0.2, -0.3]
  call layer(w, x, b, y)
  expected = tanh(matmul(x, w) + b)
  if (any(abs(y - expected) > 1e-5)) then
    print *, "layer is", y, "and not", expected
    error stop 1
  end if
end program

! SPDX-License-Identifier: MIT
! digits.f90 reads a handwritten digit from Fortran, by the C bindings of Fortran 2003.
!
!     gfortran digits.f90 -lpoprt -o digits
!     ./digits MODEL IMAGES INDEX
program digits
    use, intrinsic :: iso_c_binding
    implicit none
    type, bind(c) :: poprt_tensor
        type(c_ptr) :: data
        integer(c_size_t) :: size                  ! bytes
        type(c_ptr) :: dims
        integer(c_int32_t) :: rank, dtype
    end type
    integer(c_int32_t), parameter :: float32 = 1   ! POPRT_DTYPE_FLOAT32
    interface
        integer(c_int32_t) function create_session(env, path, config, session) &
                bind(c, name='poprt_session_create_from_file')
            import
            type(c_ptr), value :: env, config      ! c_null_ptr: the defaults
            character(kind=c_char) :: path(*)      ! ends in c_null_char
            type(c_ptr) :: session
        end function
        integer(c_int32_t) function create_stepio(session, io) bind(c, name='poprt_stepio_create')
            import
            type(c_ptr), value :: session
            type(c_ptr) :: io
        end function
        integer(c_int32_t) function bind_at(io, slot, tensor) bind(c, name='poprt_stepio_bind_at')
            import
            type(c_ptr), value :: io
            integer(c_size_t), value :: slot       ! inputs first, then outputs, from 0
            type(poprt_tensor) :: tensor
        end function
        integer(c_int32_t) function run(session, io) bind(c, name='poprt_session_run')
            import
            type(c_ptr), value :: session, io
        end function
        subroutine release_stepio(io) bind(c, name='poprt_stepio_release')
            import
            type(c_ptr), value :: io
        end subroutine
        subroutine release_session(session) bind(c, name='poprt_session_release')
            import
            type(c_ptr), value :: session
        end subroutine
    end interface
    real(c_float), target :: image(64), scores(10)
    ! Dims are in the order of C: the last one is contiguous, as the first one of a Fortran array.
    integer(c_int64_t), target :: in_dims(4) = [1, 1, 8, 8], out_dims(2) = [1, 10]
    type(poprt_tensor) :: in, out
    type(c_ptr) :: session, io
    character(len=4096) :: model, images, number
    integer :: index, file
    if (command_argument_count() /= 3) stop 2
    call get_command_argument(1, model)
    call get_command_argument(2, images)
    call get_command_argument(3, number)
    read (number, *) index
    open (newunit=file, file=trim(images), access='stream', form='unformatted', status='old')
    read (file, pos=129 + 256 * index) image       ! a .npy file with 128 bytes of header
    call check(create_session(c_null_ptr, trim(model) // c_null_char, c_null_ptr, session))
    call check(create_stepio(session, io))
    in = poprt_tensor(c_loc(image), 256, c_loc(in_dims), 4, float32)
    out = poprt_tensor(c_loc(scores), 40, c_loc(out_dims), 2, float32)
    call check(bind_at(io, 0_c_size_t, in))
    call check(bind_at(io, 1_c_size_t, out))
    call check(run(session, io))
    print '(a, i0)', 'digit ', maxloc(scores, 1) - 1
    call release_stepio(io)
    call release_session(session)
contains
    ! Ends the program with the status, a POPRT_E_* value of poprt/base.h, of a call that failed.
    subroutine check(status)
        integer(c_int32_t), intent(in) :: status
        if (status /= 0) error stop status
    end subroutine
end program

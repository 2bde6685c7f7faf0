//! `tidings sandbox` as a newcomer starts it: the real binary, real ports, killed and started again.
mod crash;
mod process;
mod start;

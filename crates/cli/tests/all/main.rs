//! All tests of the command, in one program, which is linked once.

mod compare;
mod digest;
mod engines;
mod exec;
mod exec_jobserver;
mod exec_rights;
mod exec_table;
mod exec_terminal;
mod exec_variables;
mod fan;
mod fan_damage;
mod machine;
mod quotas;
mod replay;
mod run;
mod sharing;
mod shown;
mod sim;
mod sim_allotments;
mod sim_cycle;
mod sim_programs;
mod support;
mod tables;
mod top;

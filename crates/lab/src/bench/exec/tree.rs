//! Generates the C files that `make` compiles.

use std::path::Path;
use std::{fs, io};

use super::chains::{self, FACTOR};

/// The steps of the chain that each function computes.
const STEPS: u64 = 5;

/// The size of a tree: a `main`, and files with functions.
#[derive(Clone, Copy)]
pub struct Tree {
    pub files: u64,
    pub functions: u64,
}

impl Tree {
    /// Writes the files and a `Makefile` to `folder`. In another folder, `make -f` with that
    /// `Makefile` builds the program and runs it.
    pub fn write(self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for file in 0..self.files {
            fs::write(folder.join(format!("part{file}.c")), self.part(file))?;
        }
        fs::write(folder.join("main.c"), self.main())?;
        fs::write(folder.join("Makefile"), self.makefile(folder))
    }

    /// Returns what the built program prints.
    pub fn answer(self) -> u64 {
        chains::sum(self.files * self.functions, STEPS)
    }

    fn part(self, file: u64) -> String {
        let mut text = String::new();
        let functions = file * self.functions..(file + 1) * self.functions;
        for function in functions.clone() {
            text += &format!(
                "unsigned long long f{function}(unsigned long long value) {{\n    \
                 for (int step = 0; step < {STEPS}; step++)\n        \
                 value = value * {FACTOR}u + 1;\n    \
                 return value;\n}}\n"
            );
        }
        text += &format!("unsigned long long part{file}(void) {{\n    return 0");
        functions.for_each(|function| text += &format!("\n        + f{function}({function})"));
        text + ";\n}\n"
    }

    fn main(self) -> String {
        let mut text = "#include <stdio.h>\n".to_owned();
        let names: Vec<String> = (0..self.files)
            .map(|file| format!("part{file}()"))
            .collect();
        for name in &names {
            text += &format!("unsigned long long {name};\n");
        }
        let sum = names.join(" + ");
        text + &format!("int main(void) {{\n    printf(\"%llu\\n\", {sum});\n    return 0;\n}}\n")
    }

    fn makefile(self, folder: &Path) -> String {
        let objects: String = (0..self.files)
            .map(|file| format!(" part{file}.o"))
            .collect();
        format!(
            "VPATH = {}\n\
             run: main\n\t./main\n\
             main: main.o{objects}\n\tgcc -o $@ $^\n\
             %.o: %.c\n\tgcc -O2 -c -o $@ $<\n",
            folder.display()
        )
    }
}

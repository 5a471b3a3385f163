//! The options that choose and describe an engine.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::Error;
use crate::engine::call::Commands;
use crate::engine::hq::Hq;
use crate::engine::k8s::{Container, K8s};
use crate::engine::local::Local;
use crate::engine::slurm::Slurm;
use crate::engine::{Engine, Launch};
use crate::whole::whole;

/// What runs the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Processes of this machine
    Local,
    /// Tasks of HyperQueue, by `hq`
    Hq,
    /// An array of Slurm, by `sbatch`
    Slurm,
    /// An indexed Job of Kubernetes, by `kubectl`
    #[value(name = "k8s")]
    K8s,
}

impl Kind {
    /// Returns the name by which a user chooses the engine. Its lists are named after it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Hq => "hq",
            Self::Slurm => "slurm",
            Self::K8s => "k8s",
        }
    }
}

/// Which engine runs the pieces, and what it needs to know.
#[derive(Args, Clone, Debug)]
pub struct EngineOptions {
    /// What runs the pieces
    #[arg(long, value_enum, default_value_t = Kind::Local, global = true)]
    pub engine: Kind,
    /// k8s: the image that has the program, at the path that it has here
    #[arg(long, value_name = "IMAGE", global = true)]
    pub image: Option<String>,
    /// k8s: the volume claim that has the folder, and where it is mounted, here as there
    #[arg(long, value_name = "NAME:PATH", global = true)]
    pub claim: Option<Claim>,
    /// hq, slurm and k8s: after how many seconds a command of the engine is killed [default: 60]
    #[arg(long, value_name = "SECONDS", global = true, value_parser = whole(1_u32, 86_400))]
    pub call_limit: Option<u32>,
}

/// A persistent volume claim of Kubernetes, and where it is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for Claim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').filter(|(name, path)| {
            !name.is_empty() && Path::new(path).has_root() && !path.contains(':')
        });
        let (name, path) = parts.ok_or("expected a name and an absolute path, as in data:/data")?;
        let (name, path) = (name.to_owned(), path.into());
        Ok(Self { name, path })
    }
}

impl EngineOptions {
    /// Returns the engine.
    pub fn choose(&self, launch: Launch) -> Result<Box<dyn Engine>, Error> {
        self.check()?;
        let commands = |advice| Commands {
            folder: PathBuf::new(),
            limit: Duration::from_secs(self.call_limit.unwrap_or(60).into()),
            advice,
        };
        Ok(match self.engine {
            Kind::Local => Box::new(Local::new(launch)),
            Kind::Hq => Box::new(Hq::new(&launch, commands(Hq::ADVICE))?),
            Kind::Slurm => Box::new(Slurm::new(&launch, commands(Slurm::ADVICE))?),
            Kind::K8s => {
                let commands = commands(K8s::ADVICE);
                Box::new(K8s::new(&launch, &self.container()?, commands)?)
            }
        })
    }

    /// Fails if an option is given that the engine does not have.
    fn check(&self) -> Result<(), Error> {
        let (is_k8s, is_local) = (self.engine == Kind::K8s, self.engine == Kind::Local);
        let given = [
            (self.image.is_some() && !is_k8s, "--image"),
            (self.claim.is_some() && !is_k8s, "--claim"),
            (self.call_limit.is_some() && is_local, "--call-limit"),
        ];
        match given.iter().find(|(is_wrong, _)| *is_wrong) {
            None => Ok(()),
            Some((_, option)) => Err(Error::never(format!(
                "{option} cannot be used with the engine {}: leave it out, or choose another --engine",
                self.engine.name()
            ))),
        }
    }

    fn container(&self) -> Result<Container, Error> {
        let missing = |option| {
            Error::never(format!(
                "the engine k8s needs {option}: pass --image IMAGE --claim NAME:PATH"
            ))
        };
        let image = self.image.clone().ok_or_else(|| missing("an image"))?;
        let claim = self.claim.clone();
        let claim = claim.ok_or_else(|| missing("the volume of the folder"))?;
        Ok(Container { image, claim })
    }
}

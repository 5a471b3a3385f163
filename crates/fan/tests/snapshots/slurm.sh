#!/bin/sh
#SBATCH --array=0-63
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --output=/dev/null
exec '/opt/it'\''s/tidegate' fan piece --plan '/data/my run/plan.json' --out '/data/my run' --budget 60 --item-from SLURM_ARRAY_TASK_ID --list '/data/my run/list.1.json'

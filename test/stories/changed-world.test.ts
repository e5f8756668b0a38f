import { overSeeds } from './over-seeds.ts'
import story from './told/changed-world.ts'

overSeeds('an agent whose program changes its world as it works', story)

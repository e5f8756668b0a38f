import { overSeeds } from './over-seeds.ts'
import story from './told/compaction.ts'

overSeeds('an agent whose window is too small for what it reads', story)

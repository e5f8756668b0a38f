import { overSeeds } from './over-seeds.ts'
import story from './told/workers.ts'

overSeeds('an agent that has workers by its built-in tools', story)

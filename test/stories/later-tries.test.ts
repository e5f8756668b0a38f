import { overSeeds } from './over-seeds.ts'
import story from './told/later-tries.ts'

overSeeds('agents whose model is often too late', story)

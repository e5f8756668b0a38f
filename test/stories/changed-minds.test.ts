import { overSeeds } from './over-seeds.ts'
import story from './told/changed-minds.ts'

overSeeds('an agent whose user stops steps at any moment', story)

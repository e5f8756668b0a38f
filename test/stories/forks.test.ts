import { overSeeds } from './over-seeds.ts'
import story from './told/forks.ts'

overSeeds('a lead that forks itself', story)

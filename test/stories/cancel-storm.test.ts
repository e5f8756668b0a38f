import { overSeeds } from './over-seeds.ts'
import story from './told/cancel-storm.ts'

overSeeds('sessions that are ended at any moment', story)

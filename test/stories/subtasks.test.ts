import { overSeeds } from './over-seeds.ts'
import story from './told/subtasks.ts'

overSeeds('an agent that has its reading done in subtasks', story)

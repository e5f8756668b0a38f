import { overSeeds } from './over-seeds.ts'
import changedMinds from './told/changed-minds.ts'
import takenBack from './told/taken-back.ts'

overSeeds('an agent whose user stops steps and takes back messages at any moment', changedMinds)
overSeeds('an agent with archived and summarized turns that its user takes back', takenBack)

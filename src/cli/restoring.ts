import * as standardComponents from '../../components/index.ts'
import { standardSystems } from '../index.ts'
import { Folder } from './lead.ts'

/** What worlds of runs, and of their sessions, are restored with. */
export const restoring = { systems: standardSystems(), components: { ...standardComponents, Folder } }

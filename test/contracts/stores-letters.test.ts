import { memoryStore, sqliteStore } from 'entia'
import { tempFolder } from '../tools/temp-folder.ts'
import { describeLetters } from './letters-suite.ts'

describeLetters([
  { name: 'memory', make: memoryStore },
  { name: 'sqlite', make: async () => sqliteStore({ folder: await tempFolder(), synchronous: 'normal' }) },
])

import { defineFleet } from 'entia/postgres'
import { desk, models } from '../parts/postgres/desk.ts'

const { DATABASE_URL = '', DESK_SCHEMA = 'entia' } = process.env

/** Desks, for `entia worker`. */
export default defineFleet({ database: DATABASE_URL, schema: DESK_SCHEMA, worlds: { desk }, models, idleMs: 50 })

import { onPostgres } from './on-postgres.ts'
import { threeProcesses } from './three-processes.ts'

// The two other ways of asking each other are in `postgres-live-ways.test.ts`, which `npm run test:all` runs.
onPostgres('live sessions in PostgreSQL', (database) => threeProcesses(database, 'the database'))

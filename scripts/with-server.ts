/** `node scripts/with-server.ts <command> [arguments…]`: runs a command with BASE_URL set to a fixture server that lives as long as it. */
import { spawn } from 'node:child_process'
import { startServer } from '../test/harness/server.ts'

const [command, ...commandArguments] = process.argv.slice(2)
if (!command) throw new Error('usage: node scripts/with-server.ts <command> [arguments…]')
const server = await startServer()
const child = spawn(command, commandArguments, { stdio: 'inherit', env: { ...process.env, BASE_URL: server.url } })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.once('error', (error) => {
  console.error(`${command}: ${error.message}`)
  process.exit(127)
})
child.once('exit', async (code) => {
  await server.close()
  process.exit(code ?? 1)
})

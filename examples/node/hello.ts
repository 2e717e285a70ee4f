// ANTHROPIC_API_KEY=… node examples/node/hello.ts "What is 2 + 3?"     (in this repository, after `npm run build`)
import { ask } from '../hello.ts'

const { ANTHROPIC_API_KEY: apiKey = '', ANTHROPIC_BASE_URL: baseUrl } = process.env
await ask(process.argv[2] ?? 'What is 2 + 3?', { apiKey, ...(baseUrl && { baseUrl }) })

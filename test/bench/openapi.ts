/**
 * `npm run bench openapi`: what a document of 12 MB with 1,000 operations costs, beside `JSON.parse` of the same text; and the same as YAML.
 * Schemas are written when they are first asked for: "one tool" is what a call of an agent with one of them pays.
 */
import { stringify } from 'yaml'
import { openApiTools } from '../../src/openapi.ts'

const operations = 1_000
const bytes = 12 * 1024 * 1024

/** Each operation with parameters, a body that refers to schemas that refer to others in circles, and answers that nobody needs. */
function largeDocument(): object {
  const filler = 'What this field is for, at some length. '.repeat(4)
  const schemas: Record<string, object> = {}
  const paths: Record<string, object> = {}
  const fields = Math.ceil(bytes / operations / 230)
  for (let at = 0; at < operations; at += 1) {
    const next = { $ref: `#/components/schemas/Thing${(at + 1) % operations}` }
    const own = Array.from({ length: fields }, (_, index) => [`field${index}`, { type: 'string', maxLength: 100, description: filler }])
    // Chains of ten: what real documents reach from one body.
    schemas[`Thing${at}`] = { type: 'object', properties: { ...Object.fromEntries(own), ...(at % 10 === 9 ? {} : { next }) } }
    const parameters = ['id', 'page', 'sort'].map((name) => ({
      name,
      in: name === 'id' ? 'path' : 'query',
      required: name === 'id',
      schema: { type: 'string' },
    }))
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/Thing${at}` } } }
    paths[`/things${at}/{id}`] = {
      post: { operationId: `thing${at}`, parameters, requestBody: { content }, responses: { 200: { description: '', content } } },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1' },
    servers: [{ url: 'https://api.test' }],
    paths,
    components: { schemas },
  }
}

async function median(runs: number, work: () => unknown): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < runs; at += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? 0
}

/** MB of heap that `hold` keeps. */
async function held(hold: () => unknown): Promise<number> {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('Run this with --expose-gc, as npm run bench openapi does.')
  collect()
  const before = process.memoryUsage().heapUsed
  const kept = await hold()
  collect()
  const after = process.memoryUsage().heapUsed
  return kept === undefined ? 0 : (after - before) / 1024 / 1024
}

const text = JSON.stringify(largeDocument())
const asYaml = stringify(JSON.parse(text).paths, { aliasDuplicateObjects: false })
const small = `openapi: 3.1.0\nservers: [{ url: https://api.test }]\npaths:\n${asYaml.replace(/^/gm, '  ')}`
const rows: [string, number, string][] = [
  ['JSON.parse alone', await median(9, () => JSON.parse(text)), 'ms'],
  ['1,000 tools from the text', await median(9, () => openApiTools(text)), 'ms'],
]
const parsed: object = JSON.parse(text)
rows.push(['1,000 tools from a parsed document', await median(9, () => openApiTools(parsed)), 'ms'])
rows.push(['one of them, by filter', await median(9, () => openApiTools(parsed, { filter: { operationIds: ['thing500'] } })), 'ms'])
rows.push([
  'the schema of one tool',
  await median(9, async () => (await openApiTools(parsed, { filter: { operationIds: ['thing500'] } }))[0]?.parameters),
  'ms',
])
rows.push(['all 1,000 schemas', await median(3, async () => (await openApiTools(parsed)).map(({ parameters }) => parameters)), 'ms'])
rows.push(['held by the parsed document', await held(() => JSON.parse(text)), 'MB'])
rows.push(['held by 1,000 tools and their document', await held(() => openApiTools(text)), 'MB'])
rows.push([`YAML of ${(small.length / 1024 / 1024).toFixed(1)} MB, 1,000 operations`, await median(3, () => openApiTools(small)), 'ms'])
console.log(`${(text.length / 1024 / 1024).toFixed(1)} MB of JSON, ${operations} operations`)
for (const [what, figure, unit] of rows) console.log(`${what.padEnd(44)} ${figure.toFixed(1)} ${unit}`)

import { readFileSync } from 'node:fs'
import { metrics } from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { expect, it, onTestFinished } from 'vitest'
import { operatedServer } from '../../../examples/recipes/servers/operating.ts'
import { defineTool, type JsonObject, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const look = defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, execute: () => 'seen' })

/** Everything that the metrics of a process say. */
function collected() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
  const provider = new MeterProvider({ readers: [reader] })
  metrics.setGlobalMeterProvider(provider)
  onTestFinished(async () => {
    metrics.disable()
    await provider.shutdown()
  })
  return async () => {
    await reader.forceFlush()
    const all =
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    exporter.reset()
    return all
  }
}

/** As the exporter for Prometheus names them. */
function prometheusName({ name, unit }: { name: string; unit: string }): string {
  const suffix = unit === 's' ? '_seconds' : /^\{|^$/.test(unit) ? '' : `_${unit}`
  return `${name.replaceAll('.', '_')}${suffix}`
}

it('logs and measures requests, runs and activity without user names', async () => {
  const read = collected()
  const lines: JsonObject[] = []
  const cost = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 1, cacheWritePerMillion: 1 }
  const usage = { input: 1000, output: 1000 }
  const model = scripted(
    ({ messages }) => (messages.length === 1 ? { toolCalls: [{ name: 'look', arguments: {} }], usage } : { text: 'Hello.', usage }),
    {
      config: { cost },
    },
  )
  const { app, sessions } = operatedServer({
    store: memorySessionStore(),
    model,
    tools: [look],
    write: (line) => lines.push(JSON.parse(line)),
  })
  onTestFinished(() => sessions.close())
  const headers = { 'content-type': 'application/json', 'x-user': 'ada-lovelace' }
  const answer = await app.request('/sessions/diary/runs', { method: 'POST', headers, body: '{"prompt":"Dear diary"}' })
  expect(await answer.text()).toContain('Hello.')
  expect((await app.request('/operator/sessions', { headers: { 'x-operator': 'olga' } })).status).toBe(200)
  const told = await read()
  const points = told.flatMap(({ descriptor, dataPoints }) =>
    dataPoints.map(({ attributes, value }) => ({ name: descriptor.name, attributes, value })),
  )
  expect(points.filter(({ name }) => name === 'http.server.request.duration').map(({ attributes }) => attributes)).toEqual([
    { 'http.request.method': 'POST', 'http.route': '/sessions/:id/runs', 'http.response.status_code': 200 },
    { 'http.request.method': 'GET', 'http.route': '/operator/sessions', 'http.response.status_code': 200 },
  ])
  expect(points.find(({ name }) => name === 'phi.app.sessions')).toMatchObject({ value: 1 })
  expect(points.find(({ name }) => name === 'phi.run.cost')).toMatchObject({ value: { sum: 0.004, count: 1 } })
  expect(JSON.stringify(points)).not.toMatch(/ada|diary|olga/)
  expect(lines).toMatchObject([
    { level: 'info', event: 'request', route: '/sessions/:id/runs' },
    { level: 'info', route: '/operator/sessions' },
  ])
  // The dashboard asks for what there is, and leaves nothing out.
  const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(readFileSync('docs/grafana-dashboard.json', 'utf8'))
  const asked = dashboard.panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.replaceAll(/by \([^)]*\)/g, '').match(/\b(?:phi|gen_ai|http_server)_\w+(?=[[)])/g) ?? []),
  )
  const names = told.map(({ descriptor }) => prometheusName(descriptor))
  expect(new Set(asked.map((name) => name.replace(/_(?:count|sum|bucket)$/, '')))).toEqual(new Set(names))
})

import { type Attributes, type Meter, metrics } from '@opentelemetry/api'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { options as optionsOf, withMethods } from '../../src/contract/shape/shape.ts'
import type { AppObserver } from '../http/index.ts'
import type { AppFigures } from '../http/internal.ts'

/** Options for `meterApp`. Source: docs/guides/deploy.md */
export interface MeterAppOptions {
  /** Default: the meter of the global meter provider. */
  meter?: Meter
}

const meterOptions = optionsOf<MeterAppOptions>({
  meter: withMethods('a meter of @opentelemetry/api', 'createHistogram', 'createObservableGauge'),
})

interface Gauge {
  name: string
  unit: string
  description: string
  read: (figures: AppFigures) => number
}

/** Gauges, read on each collection. */
const gauges: readonly Gauge[] = [
  { name: 'phi.app.sessions', unit: '{session}', description: 'Sessions in memory.', read: ({ sessions }) => sessions },
  { name: 'phi.app.runs', unit: '{run}', description: 'Active runs.', read: ({ runs }) => runs },
  { name: 'phi.app.approvals.waiting', unit: '{call}', description: 'Calls pending approval.', read: ({ waiting }) => waiting },
  {
    name: 'phi.app.inputs.queued',
    unit: '{message}',
    description: 'Messages queued for a run.',
    read: ({ queued }) => queued,
  },
  { name: 'phi.app.streams', unit: '{stream}', description: 'Answers that stream.', read: ({ openStreams }) => openStreams },
  { name: 'phi.app.event_loop.lag', unit: 's', description: 'Event loop lag.', read: ({ lagMs }) => lagMs / 1000 },
]

/** Bucket boundaries from the conventions, in seconds. */
const explicitBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/**
 * Creates an observer that records OpenTelemetry metrics of an app: `createAgentApp({ observers: [meterApp()], … })`. Measures request
 * durations by route, and process statistics. For run durations and costs, add `traceLoops` to an agent's `observers`.
 *
 * **Contract**
 * - Attributes are routes, methods and statuses, never user ids or user names.
 * - Throws `ConfigError` `invalidOption` for an invalid option, and nothing afterwards.
 *
 * Source: docs/guides/deploy.md
 */
export function meterApp(options: MeterAppOptions = {}): AppObserver {
  checkOptions(options, meterOptions)
  const meter = options.meter ?? metrics.getMeter('phi-core')
  const durations = meter.createHistogram('http.server.request.duration', { unit: 's', advice: { explicitBucketBoundaries } })
  return {
    request: ({ method, route, status, durationMs }) => {
      const attributes: Attributes = { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status }
      durations.record(durationMs / 1000, attributes)
    },
    begin: (figures) => {
      for (const { name, unit, description, read } of gauges)
        meter.createObservableGauge(name, { unit, description }).addCallback((result) => result.observe(read(figures())))
    },
  }
}

// The entry `./otel`: named exports only, each with its contract in TSDoc. Imports `@opentelemetry/api` alone, which does nothing by itself.
export { type MeterAppOptions, meterApp } from './meter-app.ts'
export { type AgentTrace, type LoopTracer, traceAgent, traceLoops } from './trace-agent.ts'
export type { TraceOptions } from './tracing.ts'

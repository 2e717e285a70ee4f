export { createWorker, type WorkerOptions } from './create-worker.ts'

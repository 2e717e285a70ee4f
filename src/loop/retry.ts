export { retryDelayMs } from '../base/retry-delay.ts'

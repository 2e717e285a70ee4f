// The entry `./adapters/node/rust`: session files as the Rust implementation keeps them.
export { deleteSession, listSessionIds, loadSession, loadSessionsForAgent, saveSession } from './ledger-files.ts'

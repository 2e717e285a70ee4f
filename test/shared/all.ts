// Every shared test file, for workerd, which has no file system to discover them in. test/harness/shared-files.test.ts keeps it complete.
import './abort.test.ts'
import './cuts.test.ts'
import './restore.test.ts'
import './runtime.test.ts'
import './steer.test.ts'
import './stream.test.ts'
import './tools.test.ts'
import './validate.test.ts'

/** Reads `initialize` and never responds. */
import { serve } from "./rpc.ts";

serve({ initialize: () => {} });

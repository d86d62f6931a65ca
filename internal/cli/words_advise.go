package cli

import (
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// Words of tare advise. Sentences about an advice itself are in the catalogue of messages.

// longer is the hint about a stage that is too short.
const longer = "a longer --budget, or one load: --workload NAME"

// stages has the name of each stage but the first one.
var stages = map[record.StageKind]messages.Key{
	record.StageCandidates: "advise.step.candidates", record.StageTogether: "advise.step.together", record.StageProof: "advise.step.proof",
}

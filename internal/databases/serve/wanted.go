package serve

import (
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/record"
)

// Wanted are the variables that the server will report with these settings, as far as the settings decide them. It
// starts nothing.
func (f Found) Wanted(s Server) (all []record.Setting, err error) {
	s.Dir = "/" // of no data set: the recipe is not used
	r, err := s.recipe(f)
	if err != nil {
		return nil, err
	}
	for _, q := range r.ReadBack {
		if q.Wanted != "" && q.Wanted != db.Leave {
			all = append(all, record.Setting{Name: q.Name, Got: q.Wanted})
		}
	}
	return all, nil
}
